"""What is shipped: packages, man pages, the site of the documentation, workflows, the image."""
