"""The charts, as Helm renders them."""
