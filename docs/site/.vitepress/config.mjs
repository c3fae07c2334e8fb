import { defineConfig } from 'vitepress';
import { leaveManual } from './outside-links.mjs';
import { sidebar } from './sidebar.mjs';

/** The pages are those of `docs/`, so that the site and the repository show the same files. */
export default defineConfig({
  title: 'Switchyard',
  description:
    'Manual of Switchyard, a scheduling gateway for self-hosted speech and language models',
  lang: 'en',
  srcDir: '..',
  srcExclude: ['site/**'],
  outDir: './dist',
  cacheDir: './node_modules/.vitepress',
  cleanUrls: false,
  markdown: { config: markdown => leaveManual(markdown) },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/start/quickstart-cpu' },
      { text: 'Operate', link: '/operate/going-to-production' },
      { text: 'Reference', link: '/reference/http-api' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
  },
});
