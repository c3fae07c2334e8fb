import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ENGINE_CAPABILITIES } from '@switchyard/engine-api/engine.js';
import { ENGINE_KINDS, MODEL_FIELDS } from '../../src/platform/config/model-fields.js';
import { ENGINE_NAMES } from '../../src/platform/config/model-spec.js';

const comments = readFileSync('config/models.yaml', 'utf8').split(/^models:/m)[0] ?? '';
const engines = readFileSync('src/worker/engines/README.md', 'utf8');

/** `#   name          text`, and what follows deeper indented: name → text. */
function documented(): Map<string, string> {
  const fields = new Map<string, string>();
  let name = '';
  for (const line of comments.split('\n')) {
    const start = /^# {3}(\w+)\s+(.*)$/.exec(line);
    if (start) [, name = ''] = start;
    const text = start ? start[2] : /^# {12,}(.*)$/.exec(line)?.[1];
    if (name && text !== undefined) fields.set(name, `${fields.get(name) ?? ''} ${text}`.trim());
  }
  return fields;
}

describe('the comments of config/models.yaml', () => {
  it('document exactly the fields that are accepted, in the same order', () => {
    expect([...documented().keys()]).toEqual(Object.keys(MODEL_FIELDS));
  });

  it('name every engine', () => {
    expect(documented().get('engine')?.split(' | ').sort()).toEqual([...ENGINE_NAMES].sort());
  });

  it('name every capability', () => {
    expect(documented().get('capabilities')?.split(', ').sort()).toEqual(
      [...ENGINE_CAPABILITIES].sort(),
    );
  });
});

describe('engines', () => {
  it('each do at least one kind of work', () => {
    expect(Object.keys(ENGINE_KINDS).sort()).toEqual([...ENGINE_NAMES].sort());
    expect(Object.values(ENGINE_KINDS).filter(kinds => kinds.length === 0)).toEqual([]);
  });

  it('are each explained in src/worker/engines/README.md', () => {
    expect(ENGINE_NAMES.filter(name => !engines.includes(`\`${name}`))).toEqual([]);
  });
});
