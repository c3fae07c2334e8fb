import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, inRoot, toolEnvironment } from './command.mjs';

const PACKAGE = inRoot('node_modules', 'node-llama-cpp', 'llama');

/**
 * llama.cpp's whole source, at the release that node-llama-cpp's binaries are of: it comes with the package, nothing is
 * downloaded.
 */
export const LLAMA_SOURCE = join(PACKAGE, 'gitRelease.bundle');

export const llamaRelease = () => JSON.parse(readFileSync(join(PACKAGE, 'binariesGithubRelease.json'), 'utf8')).release;

/**
 * What a person set for compilers is for other builds: two builds that are compared differ in nothing but their
 * purpose.
 */
export const buildEnvironment = () => toolEnvironment({ CFLAGS: '', CXXFLAGS: '', LDFLAGS: '' });

/** Any one of the commands will do. */
const TOOLS = [
  { commands: ['git'], debian: 'git' },
  { commands: ['cmake'], debian: 'cmake' },
  { commands: ['ninja', 'make'], debian: 'ninja-build' },
  { commands: ['c++'], debian: 'g++' },
];

/** @returns what is missing and how to install it; undefined when llama.cpp can be built */
export async function lackingBuildTools() {
  const tried = await Promise.all(TOOLS.map(async tool => ({ ...tool, there: await isThere(tool.commands) })));
  const lacking = tried.filter(({ there }) => !there);
  if (lacking.length === 0) return undefined;
  const names = lacking.map(({ commands }) => commands.join(' or ')).join(', ');
  const install = `apt-get install -y --no-install-recommends ${lacking.map(({ debian }) => debian).join(' ')}`;
  return `llama.cpp is built with git, cmake, ninja or make, and a C++ compiler; missing: ${names}. Debian: ${install}`;
}

async function isThere(commands) {
  const tried = await Promise.all(commands.map(name => command(name, ['--version'])));
  return tried.some(({ code }) => code === 0);
}

export const lastLines = ({ output }) => output.trim().split('\n').slice(-5).join('\n');
