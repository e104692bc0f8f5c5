"""Record measurements that take too long to run on a page."""
