import { describe, expect, it } from '@jest/globals';
import { IntakeGate } from './intake-gate.js';

describe('a gateway that drains', () => {
  const gate = new IntakeGate();

  it('begins to with the first sign of its end', () => {
    expect(gate.draining).toBe(false);
    gate.onModuleDestroy();
    expect(gate.draining).toBe(true);
  });

  it.each(['/health/ready', '/metrics?a', '/v1/requests/r', '/v1/requests/r/cancel/', '/admin'])(
    'still answers %s',
    url => expect(() => gate.pass(url)).not.toThrow(),
  );

  it.each(['/v1/chat/completions', '/v1/requests', '/x?u=/health'])('refuses %s', url => {
    expect(() => gate.pass(url)).toThrow(expect.objectContaining({ code: 'shutting_down' }));
  });
});
