/** The code of an error; undici's parser error has only its name. */
function classOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** What went wrong, for the delivery log: its class, not its details. The first line that matches. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/^(ENOTFOUND|ENODATA)$/, 'There is no host of this name.'],
  [
    /^(ESERVFAIL|ETIMEOUT|EREFUSED|ECANCELLED|EAI_AGAIN|EBADRESP)$/,
    'The name of the host could not be resolved.',
  ],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'No connection could be made in time.'],
  [/^ECONNREFUSED$/, 'The connection was refused.'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'The host cannot be reached.'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'The connection was closed before the answer was complete.'],
  [/^CERT_HAS_EXPIRED$/, 'The certificate of the host has expired.'],
  [
    /^CERT_NOT_YET_VALID$/,
    'The certificate of the host is not valid yet. Compare the clocks of both machines.',
  ],
  [/^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, 'The certificate of the host is for another name.'],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT\w*|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/,
    'The certificate of the host comes from an unknown issuer. If it is your own, the operator of this service can trust it with WEBHOOK_CA_FILE.',
  ],
  [/CERT|UNABLE_TO_|HOSTNAME_MISMATCH/, 'The certificate of the host is not valid.'],
  [/^(EPROTO|ERR_SSL_|ERR_TLS_)/, 'No secure connection could be made.'],
  [/^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/, 'The answer is not valid HTTP.'],
];

/** Why a request got no answer, in a sentence. */
export function reasonOf(error: unknown): string {
  const name = classOf(error);
  return reasons.find(([pattern]) => pattern.test(name))?.[1] ?? 'The request failed.';
}
