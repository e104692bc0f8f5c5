"""Record measurements that take too long to run on a page; the results are stored in book/."""
