import { describe, expect, it } from '@jest/globals';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { reportUnreachable } from './chat-body.js';

describe('a bound that the model cannot reach', () => {
  const reported = (value: unknown, options = { contextTokens: 4096 }): readonly string[] => {
    const ignored = new IgnoredFields();
    reportUnreachable(syntheticModel(options), { name: 'max_tokens', value }, ignored);
    return ignored.paths;
  };

  it('is reported above its context, and not at it', () => {
    expect(reported(4097)).toEqual(['max_tokens']);
    expect(reported(4096)).toEqual([]);
  });

  it('is not reported where there is no bound or no known context', () => {
    expect(reported(undefined)).toEqual([]);
    expect(reported(1e9, {} as never)).toEqual([]);
  });
});
