"""Measurements that are too long for a page: recorded here, shown there."""
