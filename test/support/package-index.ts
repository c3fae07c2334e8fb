import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type MirrorPackage } from '../../src/cli/models/hub/package-mirror.js';
import { type Requirement } from './requires.js';

const hasPip = (): boolean => {
  try {
    execFileSync('python3', ['-m', 'pip', '--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
export const PIP: Requirement = { name: 'python3-pip', present: hasPip() };

const WHEEL = `
import base64, json, sys, zipfile
path, name, version, files = json.load(sys.stdin)
info = name.replace("-", "_") + "-" + version + ".dist-info/"
own = {
    info + "METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n",
    info + "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    info + "RECORD": "",
}
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
    for member, text in own.items():
        wheel.writestr(member, text)
    for member, data in files.items():
        wheel.writestr(member, base64.b64decode(data))
`;

/** What `pip download` does with a folder of wheels, in a fiftieth of its time. */
const QUICK_PIP = `
import glob, hashlib, os, re, shutil, sys
line = re.match(r"(\\S+)==\\S+ --hash=sha256:(\\w+)", open("requirements.txt").read())
[wheel] = glob.glob(os.environ["PIP_FIND_LINKS"] + "/" + line[1].replace("-", "_") + "-*.whl")
os.mkdir("wheel")
shutil.copy(wheel, "wheel")
if hashlib.sha256(open(wheel, "rb").read()).hexdigest() != line[2]:
    sys.exit("THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE")
`;

/** @returns the path of programs on which it is the pip of `python3` */
export function quickPip(folder: string): { readonly PATH: string } {
  const path = process.env.PATH ?? '';
  mkdirSync(join(folder, 'pip'), { recursive: true });
  // Without it the installed pip would come first.
  writeFileSync(join(folder, 'pip', '__init__.py'), '');
  writeFileSync(join(folder, 'pip', '__main__.py'), QUICK_PIP);
  const script = `#!/bin/sh\nPATH='${path}' PYTHONPATH='${folder}' exec python3 "$@"\n`;
  writeFileSync(join(folder, 'python3'), script, { mode: 0o755 });
  return { PATH: `${folder}:${path}` };
}

/**
 * A package index on a real port, or the folder behind it (`--find-links`): wheels that
 * hold the bytes given.
 */
export class PackageIndex implements AsyncDisposable {
  /** Wheels that were asked for, and packages. */
  readonly seen: string[] = [];
  /** The next wheel ends after so many bytes, and its connection stays. */
  stallAfter: number | undefined;
  readonly stalled: Promise<void>;
  #stall!: () => void;
  readonly #server = http.createServer((request, response) =>
    this.#answer(decodeURIComponent(request.url ?? ''), response),
  );

  constructor(readonly folder: string) {
    mkdirSync(folder, { recursive: true });
    this.stalled = new Promise(resolve => (this.#stall = resolve));
  }

  async listen(): Promise<string> {
    await new Promise<void>(done => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/simple`;
  }

  /** @param parts path in the wheel → file of the model and its bytes */
  add(
    name: string,
    parts: Readonly<Record<string, readonly [file: string, bytes: Buffer]>>,
    platform = 'any',
  ): MirrorPackage {
    const version = '1.0.0';
    const path = join(this.folder, `${name.replaceAll('-', '_')}-1.0.0-py3-none-${platform}.whl`);
    const files = Object.entries(parts).map(([member, [, bytes]]) => [
      member,
      bytes.toString('base64'),
    ]);
    const input = JSON.stringify([path, name, version, Object.fromEntries(files)]);
    execFileSync('python3', ['-c', WHEEL], { input });
    const wheel = readFileSync(path);
    return {
      ...{ name, version, bytes: wheel.length, ...(platform !== 'any' && { platform }) },
      sha256: createHash('sha256').update(wheel).digest('hex'),
      members: Object.fromEntries(Object.entries(parts).map(([member, [file]]) => [member, file])),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(closed => this.#server.close(closed));
  }

  #answer(url: string, response: http.ServerResponse): void {
    const [, , name = '', file] = url.split('/');
    this.seen.push(file || name);
    response.setHeader('content-type', file ? 'application/zip' : 'text/html');
    if (!file) {
      const own = `${name.replaceAll('-', '_')}-`;
      const wheels = readdirSync(this.folder).filter(one => one.startsWith(own));
      return void response.end(
        wheels.map(one => `<a href="/simple/${name}/${one}">${one}</a>`).join(''),
      );
    }
    const bytes = readFileSync(join(this.folder, file));
    response.setHeader('content-length', bytes.length);
    if (this.stallAfter === undefined) return void response.end(bytes);
    response.write(bytes.subarray(0, this.stallAfter), () => this.#stall());
    this.stallAfter = undefined;
  }
}
