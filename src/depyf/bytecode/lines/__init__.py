"""Line tables: which source position each instruction came from, in the three formats of 3.8 to 3.15."""
