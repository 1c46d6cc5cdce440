import { isIP } from 'node:net';
import { bareHost } from './address-guard.ts';
import type { Config } from './config.ts';

/**
 * Which Host headers are ours: the name of PUBLIC_URL, those of ALLOWED_HOSTS, and this machine's own. A page elsewhere
 * can make its own name lead here (DNS rebinding), where we would pass for a part of it. Addresses lead only where they
 * say, and health checks ask by them.
 */
export function ownHosts({
  publicUrl,
  allowedHosts,
}: Pick<Config, 'publicUrl' | 'allowedHosts'>): (host: string) => boolean {
  const names = new Set([new URL(publicUrl).hostname, ...allowedHosts, 'localhost']);
  return (host) => {
    const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '') ?? '';
    return names.has(name) || name.endsWith('.localhost') || isIP(bareHost(name)) > 0;
  };
}
