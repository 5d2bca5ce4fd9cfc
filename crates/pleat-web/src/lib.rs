//! The web face: pages, live patches and access.
