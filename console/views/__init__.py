"""What the pages show; each page file guards itself and then calls one of these."""
