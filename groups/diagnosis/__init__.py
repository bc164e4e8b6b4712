"""Problems of a group, with their start and remedies, from one observation or, better, several."""
