"""Text made to deceive: hidden characters, look-alikes, padding, and the marks that show them."""
