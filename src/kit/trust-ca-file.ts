import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { ConfigError } from './config.ts';

const certificateBlock = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/**
 * Makes every TLS connection of this process trust the authorities of a PEM file (WEBHOOK_CA_FILE) beside the usual
 * ones: webhooks, S3, OIDC, SMTP and PostgreSQL alike.
 * @throws ConfigError where the file cannot be read or holds no certificate.
 */
export function trustCaFile(path: string | undefined): void {
  if (path === undefined) return;
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...readCertificates(path)])]);
}

function readCertificates(path: string): string[] {
  const blocks = readText(path).match(certificateBlock);
  if (!blocks)
    throw new ConfigError([
      `WEBHOOK_CA_FILE is "${path}", which contains no certificate. It must contain one or more certificates in PEM format (-----BEGIN CERTIFICATE-----).`,
    ]);
  const broken = blocks.findIndex((block) => !isReadable(block));
  if (broken !== -1)
    throw new ConfigError([
      `WEBHOOK_CA_FILE is "${path}", whose certificate number ${broken + 1} cannot be read. Export it again in PEM format.`,
    ]);
  return blocks;
}

function isReadable(block: string): boolean {
  try {
    return new X509Certificate(block).raw.length > 0;
  } catch {
    return false;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigError([
      `WEBHOOK_CA_FILE is "${path}", which ${why}. It must be a file of certificates in PEM format.`,
    ]);
  }
}
