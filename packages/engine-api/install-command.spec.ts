import { describe, expect, it } from '@jest/globals';
import { installCommand } from './install-command.js';

describe('installCommand', () => {
  it.each<[readonly string[], NodeJS.Platform, string]>([
    [['ffmpeg'], 'linux', 'apt-get install -y --no-install-recommends ffmpeg'],
    [['ffmpeg'], 'darwin', 'brew install ffmpeg'],
    [['espeak-ng-data'], 'darwin', 'brew install espeak-ng'],
    [['python3', 'python3-venv'], 'darwin', 'brew install python'],
    [['python3.12-venv'], 'darwin', 'brew install python'],
    [['git', 'cmake', 'ninja-build', 'g++'], 'darwin', 'brew install git cmake ninja gcc'],
  ])('of %p on %s is %s', (packages, platform, command) => {
    expect(installCommand(packages, platform)).toBe(command);
  });
});
