import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { benchPlots } from '../../scripts/docs/bench-plots.js';
import { LAYERS_PICTURE, layersSvg } from '../../scripts/docs/layers.js';

const plots = await benchPlots();

describe('the pictures of benches', () => {
  it.each(plots.map(plot => [plot.file, plot] as const))(
    '%s is of the kept results (`npm run docs`)',
    (file, { svg }) => {
      expect(readFileSync(file, 'utf8')).toBe(svg);
    },
  );

  it.each(plots.map(({ file, page }) => [file, page]))('%s is shown in %s', (file, page) => {
    expect(readFileSync(page, 'utf8')).toContain(`(../${file.slice('docs/'.length)})`);
  });
});

it('the picture of the folders is of their imports (`npm run docs`)', () => {
  expect(readFileSync(LAYERS_PICTURE, 'utf8')).toBe(layersSvg());
});
