import { describe, expect, it } from '@jest/globals';
import { modelMapOf } from './ingest.service.js';

describe('model_map.json', () => {
  it('names plan files after models, safely and without two alike', () => {
    const models = [
      'org/model-A:1',
      'org_model-A_1',
      'ORG/MODEL-a:1',
      '../../etc',
      '.hidden',
      'ü'.repeat(300),
    ];
    expect(Object.values(modelMapOf(models, 6, 0).model_to_safe)).toEqual([
      'org_model-A_1',
      'org_model-A_1_2',
      'ORG_MODEL-a_1_3',
      '_._.._etc',
      '_hidden',
      '_'.repeat(100),
    ]);
  });

  it('leads both ways and lists the lines', () => {
    expect(modelMapOf(['a/b', 'c'], 7, 2)).toEqual({
      model_to_safe: { 'a/b': 'a_b', c: 'c' },
      safe_to_model: { a_b: 'a/b', c: 'c' },
      line_count: 7,
      rejected_count: 2,
      models: ['a/b', 'c'],
    });
  });
});
