/** `http://a:8000/, http://b:8000` → each without blanks and trailing slashes. */
export const addressesOf = (text: string): readonly string[] =>
  text.split(',').map(url => url.trim().replace(/\/+$/, ''));

/** http or https. */
export const isAddress = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? '');
