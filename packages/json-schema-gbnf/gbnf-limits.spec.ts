import { describe, expect, it } from '@jest/globals';
import { demandBounded } from './gbnf-limits.js';
import { anyObjectGrammar } from './grammar-rules.js';

const check = (text: string) => () => demandBounded(text, 'grammar');
const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

describe('GBNF', () => {
  it.each([
    [
      'literals, escapes, classes',
      'root ::= "a\\"\\n\\x41\\u00e4\\U0001F600" [a-z] [^"\\]] [-+] .',
    ],
    [
      'groups over lines, comments',
      '# x\nroot ::= (\n "a" # y\n | "b"\n) rest\nrest ::=\n  "c" |\n "d"\r\n\r\n',
    ],
    ['all repetitions', 'root ::= "a"* "b"+ "c"? "d"{3} "e"{2,} "f"{0,2000} ("g" "h"?){ 2 , 3 }'],
    ['repeated repetitions, empty ones', 'root ::= "a"{2}{3} "" | "b"{0} |'],
    ['rules that contain themselves', 'root ::= "(" root ")" | [a-z] root | "x"'],
    ['loops over what may be empty', 'root ::= (space "a"?)* "."\nspace ::= [ \\t]*'],
    ['JSON', anyObjectGrammar()],
    [
      'a long answer in order',
      `root ::= r0\n${lines(900, at => `r${at} ::= "x" ${at < 899 ? `r${at + 1}` : ''}`)}`,
    ],
  ])('with %s is taken', (_, text) => {
    expect(check(text)).not.toThrow();
  });

  it.each([
    ['root ::= "a"{5,2}', 'line 1, column 13, at "{5,2}": at least 5 and at most 2 cannot be'],
    ['root ::= "a"{2001}', 'a count of repetitions is from 0 to 2000'],
    ['root ::= "a"{0,99999999999999999999}', 'a count of repetitions is from 0 to 2000'],
    ['root ::= (("a"?){100}){100}', 'more than 1000 ways, in the rule `root`'],
    ['root ::= b{100}\nb ::= a{100}\na ::= "a"?', 'more than 1000 ways, in the rule `root`'],
    [
      'root ::= "x" b{50} "y"\nb ::= a{50} "z"?\na ::= "a"?',
      'more than 1000 ways, in the rule `root`',
    ],
    [`root ::= ${'("a" | '.repeat(101)}`, 'groups are at most 100 deep'],
    ['root ::= root "a" | "b"', 'the rule `root` begins with itself'],
    ['root ::= a "x"\na ::= "b"? root', 'begins with itself'],
    ['root ::= (', 'line 1, column 11, at its end: `)`, or more of the group is expected'],
    ['root ::= "abc', '`"` is missing at the end'],
    ['root ::= "\\q"', 'this escape is not known'],
    ['root ::= *', 'nothing stands before this'],
    ['root = "a"', '`::=` is expected'],
    ['root ::= "a" }', 'line 1, column 14, at "}"'],
    ['root ::= missing', 'there is no rule `missing`'],
    ['a ::= "a"', 'there is no rule `root`'],
    ['', 'there is no rule `root`'],
    ['root ::= "a"\0', 'cannot be in a grammar'],
    [
      lines(20, at => `${at === 0 ? 'root' : `r${at}`} ::= r${at + 1} "a" | r${at + 1} "b"`) +
        '\nr20 ::= "c"',
      '1000 ways',
    ],
    [
      lines(1100, at => `${at === 0 ? 'root' : `r${at}`} ::= r${at + 1} "a"`) + '\nr1100 ::= "c"',
      'more than 1000 rules',
    ],
    [
      `root ::= ${'[a-z]{0,2000} "," '.repeat(200)}`,
      'rules, those of repetitions included; at most 100000',
    ],
    [
      `root ::= ${'("abcdefghijklmnopqrstuvwxyz" "z"){900} '.repeat(50)}${'"abcdefghijk"{900} '.repeat(120)}`,
      'at most 1000000',
    ],
    [`root ::= "${'a'.repeat(600_000)}"`, 'it comes to 600011 bytes of grammar; at most 500000'],
  ])('%# is refused: it would not be read, or for too long', (text, message) => {
    expect(check(text)).toThrow(
      expect.objectContaining({ param: 'grammar', message: expect.stringContaining(message) }),
    );
  });
});
