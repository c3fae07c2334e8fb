import { describe, expect, it } from '@jest/globals';
import {
  fieldsWrittenFromOutside,
  filesOfManyClasses,
  longFiles,
  longOrComplexFunctions,
  orphanSpecs,
  promisesAwaitedLate,
} from '../support/habits.js';

describe('habits of the code', () => {
  it('state is private: at most ten fields are written from outside their class', () => {
    expect(Object.keys(fieldsWrittenFromOutside()).length).toBeLessThanOrEqual(10);
  });

  it('a file has one subject: at most five have three classes and more', () => {
    expect(filesOfManyClasses().length).toBeLessThanOrEqual(5);
  });

  it('a file is read in one go', () => {
    expect(longFiles()).toEqual([]);
  });

  it('a function is short and has few ways through it', () => {
    expect(longOrComplexFunctions()).toEqual([]);
  });

  it('a promise that may fail is waited for before another one is: at most two cannot', () => {
    expect(promisesAwaitedLate().length).toBeLessThanOrEqual(2);
  });

  it('a spec beside the code is named for its file', () => {
    expect(orphanSpecs()).toEqual([]);
  });
});
