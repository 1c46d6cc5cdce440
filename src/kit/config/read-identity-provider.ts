import { domainToASCII } from 'node:url';

/** An OpenID Connect provider that people sign in by. */
export type IdentityProviderConfig = {
  /** Where its discovery document is found. */
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  /** What people call it, for the button. */
  name: string;
  /** Of the addresses that it may sign in, in small letters. */
  domains: readonly string[];
  /** Whether it is believed about an address of which it does not say whether it is confirmed. */
  trustsEmail: boolean;
  roleClaim: string;
  /** What a value of the claim makes of a person: a member of a workspace. */
  roles: readonly { value: string; workspaceId: string; role: string }[];
};

const domain = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;
const rule =
  /^(?<value>[^=]+)=(?<workspaceId>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(?<role>admin|editor|viewer)$/;

/** The provider that an operator names, if any; what is wrong with it is put to `problems`. */
export function readIdentityProvider(
  value: (name: string) => string | undefined,
  list: (name: string) => string[],
  problems: string[],
): IdentityProviderConfig | undefined {
  const issuer = value('OIDC_ISSUER');
  if (issuer === undefined) return undefined;
  const url = URL.parse(issuer);
  const isLocal = url?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  if (url?.protocol !== 'https:' && !isLocal)
    problems.push(`OIDC_ISSUER is "${issuer}", but it must be an address that begins with https://.`);
  const clientId = value('OIDC_CLIENT_ID');
  if (clientId === undefined) problems.push('OIDC_ISSUER is set, so OIDC_CLIENT_ID must be as well.');
  const domains = list('OIDC_DOMAINS').map((name) => domainToASCII(name));
  if (domains.length === 0 || !domains.every((name) => domain.test(name)))
    problems.push(
      'OIDC_DOMAINS must name the domains of the addresses that OIDC_ISSUER may sign in, such as example.org,example.com.',
    );
  const roles = list('OIDC_ROLES').flatMap((text) => {
    const { value: given, workspaceId, role } = rule.exec(text)?.groups ?? {};
    if (given !== undefined && workspaceId !== undefined && role !== undefined)
      return [{ value: given, workspaceId, role }];
    problems.push(
      `OIDC_ROLES has "${text}", but each of its parts must be <value>=<id of a workspace>:<admin, editor or viewer>.`,
    );
    return [];
  });
  return {
    issuer,
    clientId: clientId ?? '',
    clientSecret: value('OIDC_CLIENT_SECRET'),
    name: value('OIDC_NAME') ?? 'your organisation',
    domains,
    trustsEmail: value('OIDC_TRUST_EMAIL') === 'true',
    roleClaim: value('OIDC_ROLE_CLAIM') ?? 'groups',
    roles,
  };
}
