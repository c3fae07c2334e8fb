import { posix } from 'node:path';

/** Where the files of the repository can be read, such as https://host/owner/switchyard/blob/main. */
const REPOSITORY = process.env.DOCS_REPOSITORY_URL;

/**
 * Links of a page to files outside `docs/` lead to the repository if DOCS_REPOSITORY_URL names it; otherwise only
 * their text remains. `npm test` checks that the files exist.
 */
export function leaveManual(markdown) {
  markdown.core.ruler.push('outside-links', state => {
    const page = state.env.relativePath ?? '';
    for (const { children } of state.tokens) if (children) replaceLinks(children, page);
  });
}

function replaceLinks(tokens, page) {
  const open = [];
  for (const token of tokens) {
    if (token.type === 'link_open') open.push(changeLink(token, page));
    if (token.type === 'link_close' && open.pop() === 'text') asText(token);
  }
}

function changeLink(token, page) {
  const path = outsidePath(token.attrGet('href') ?? '', page);
  if (path === undefined) return 'link';
  if (REPOSITORY) {
    token.attrSet('href', `${REPOSITORY.replace(/\/$/, '')}/${path}`);
    return 'link';
  }
  asText(token);
  token.attrSet('title', `${path} in the repository`);
  return 'text';
}

function asText(token) {
  token.tag = 'span';
  token.attrs = [];
}

/** The path below the root of the repository, or undefined for pages of the manual and other sites. */
function outsidePath(href, page) {
  if (/^[a-z]+:|^#|^\//.test(href)) return undefined;
  const path = posix.join('docs', posix.dirname(page), decodeURI(href));
  return path.startsWith('docs/') ? undefined : path;
}
