import { describe, expect, it } from '@jest/globals';
import { EngineOptionsError } from '@switchyard/engine-api/engine-options.js';
import { syntheticModel } from '../../../../test/support/synthetic-model.js';
import { ENGINE_KINDS } from '../../../platform/config/model-fields.js';
import { ENGINE_NAMES, type EngineName } from '../../../platform/config/model-spec.js';
import { createEngine } from '../../../worker/engine-factory.js';
import { ENGINE_TABLE } from './engine-table.js';

/** What each engine needs to be created at all; none of these files is opened. */
const OPTIONS: Readonly<Record<string, object>> = { 'llama-cpp': { modelFile: '/none.gguf' } };
const local = ENGINE_NAMES.filter(
  name => Object.keys(ENGINE_TABLE[name]?.devices ?? {}).length > 0,
);

function accepts(engine: EngineName, device: string) {
  const options = { ...OPTIONS[engine], device };
  const kind = ENGINE_KINDS[engine][0]!;
  const spec = syntheticModel(options, { id: 'm', kind, engine, capabilities: [] });
  try {
    createEngine(spec);
    return true;
  } catch (error) {
    if (!(error instanceof EngineOptionsError)) throw error;
    return !error.problems.some(problem => problem.includes('device'));
  }
}

describe('the table of engines', () => {
  it('has every engine of models.yaml, with its kinds', () => {
    for (const name of ENGINE_NAMES)
      expect([name, ENGINE_TABLE[name]?.kinds]).toEqual([name, ENGINE_KINDS[name]]);
  });

  it.each(local.flatMap(name => ['cuda', 'vulkan'].map(device => [name, device] as const)))(
    '%s offers %s exactly where its options accept it',
    (name, device) => {
      expect(accepts(name, device)).toBe(device in ENGINE_TABLE[name]!.devices);
    },
  );
});
