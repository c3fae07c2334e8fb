import { describe, expect, it } from '@jest/globals';
import { textOfSsml } from './speech-markup.js';

describe('textOfSsml', () => {
  it.each([
    ['<speak>Hello <break time="1s"/>world.</speak>', 'Hello world.'],
    ['<speak><p>One.</p><p>Two.</p></speak>', 'One. Two.'],
    [
      '<?xml version="1.0"?>\n<speak version="1.1">a <emphasis>very</emphasis> b</speak>',
      'a very b',
    ],
    ['<speak>Tom &amp; <s>Ann</s> &lt;3 &amp;lt;</speak>', 'Tom & Ann <3 &lt;'],
    ['<speak/>', ''],
  ])('is what is said in %s', (input, text) => {
    expect(textOfSsml(input)).toBe(text);
  });

  it.each(['1 < 2 and 3 > 2', 'say <speak> aloud', '<b>bold</b>', '<speaker>x</speaker>'])(
    'is nothing of a text that is no document: %s',
    input => {
      expect(textOfSsml(input)).toBeUndefined();
    },
  );
});
