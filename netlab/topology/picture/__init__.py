"""A topology as a picture: where everything goes, and the SVG of it."""
