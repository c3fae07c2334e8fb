import { expect, it } from '@jest/globals';
import { ownName } from './own-name.js';

it('names the command as it was typed: by npx, where there may be no other', () => {
  expect([ownName({ npm_command: 'exec' }), ownName({})]).toEqual(['npx switchyard', 'switchyard']);
});
