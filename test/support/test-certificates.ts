import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const openssl = (folder: string, ...args: string[]) =>
  promisify(execFile)('openssl', args, { cwd: folder });

/**
 * An authority of its own and what it signed, as PEM files in `folder`: for tests only,
 * valid for a day.
 */
export class TestCertificates {
  private constructor(private readonly folder: string) {}

  static async make(folder: string, authority = 'ca'): Promise<TestCertificates> {
    const made = new TestCertificates(folder);
    await openssl(
      folder,
      ...NEW_KEY,
      '-x509',
      '-keyout',
      `${authority}.key`,
      '-out',
      `${authority}.pem`,
      ...SUBJECT,
    );
    return made;
  }

  get authority(): string {
    return join(this.folder, 'ca.pem');
  }

  /** @param names as in a certificate: `DNS:gpu.test`, `IP:127.0.0.1` */
  async sign(name: string, names: string): Promise<{ certFile: string; keyFile: string }> {
    await openssl(
      this.folder,
      ...NEW_KEY,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      ...SUBJECT,
    );
    await writeFile(join(this.folder, `${name}.ext`), `subjectAltName=${names}\n`);
    const signing = [
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '1',
      '-extfile',
      `${name}.ext`,
    ];
    await openssl(
      this.folder,
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      ...signing,
      '-out',
      `${name}.pem`,
    );
    return {
      certFile: join(this.folder, `${name}.pem`),
      keyFile: join(this.folder, `${name}.key`),
    };
  }
}

const NEW_KEY = ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const SUBJECT = ['-subj', '/CN=switchyard test'];
