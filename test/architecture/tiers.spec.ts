import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { TIERS } from '../../scripts/test-steps.mjs';
import { filesBelow, SPECS } from '../support/repository-files.js';

const specs = filesBelow(['packages', 'src', 'test'], SPECS);

describe('the tiers of tests', () => {
  const folders = Object.values(TIERS)
    .flatMap(({ steps }) => steps)
    .flatMap(step => step.folders ?? []);
  const stepsOf = (file: string) => folders.filter(folder => file.startsWith(`${folder}/`)).length;

  it('run every spec file by its folder, each in exactly one step of one command', () => {
    expect(specs.length).toBeGreaterThan(500);
    expect(specs.filter(file => stepsOf(file) !== 1)).toEqual([]);
  });

  it('have no folder without a spec file', () => {
    const unused = folders.filter(folder => !specs.some(file => file.startsWith(`${folder}/`)));
    expect(unused).toEqual([]);
  });

  it('start files first that take long, all of which there are', () => {
    const { fileSeconds } = JSON.parse(readFileSync('config/test-budget.json', 'utf8')) as {
      fileSeconds: Record<string, number>;
    };
    expect(Object.keys(fileSeconds).filter(file => !specs.includes(file))).toEqual([]);
  });
});
