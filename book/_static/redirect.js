// The old address of a page: go to the new one, and keep the part after #.
const target = document.querySelector('link[rel="canonical"]').href;
location.replace(target.includes("#") ? target : target + location.hash);
