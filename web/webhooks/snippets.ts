/** How a receiver verifies X-Service-Signature, in one language. Specification, "Webhook signature" 3. */
export type Snippet = { id: 'node' | 'python' | 'php' | 'go'; label: string; code: string };

/*
 * Each is a whole function: the raw body, the header, the secret -> whether they belong together. All of them refuse a
 * header that is missing or lacks its prefix, and compare in constant time. snippets.test.ts runs them against the
 * signer of the service.
 */

const node = `import { createHmac, timingSafeEqual } from 'node:crypto';

// rawBody: the bytes as they came, before any JSON parser.
// header: request.headers['x-service-signature']
export function isFromFormloom(rawBody, header, secret) {
  const expected = Buffer.from(
    'sha256=' + createHmac('sha256', secret).update(rawBody).digest('hex'),
  );
  const given = Buffer.from(header ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}`;

const python = `import hashlib
import hmac

# raw_body: the bytes as they came, before any JSON parser.
# header: request.headers.get("X-Service-Signature")
def is_from_formloom(raw_body: bytes, header: str | None, secret: str) -> bool:
    digest = hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest((header or "").encode(), f"sha256={digest}".encode())`;

const php = `<?php
// $rawBody: file_get_contents('php://input')
// $header: $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null
function isFromFormloom(string $rawBody, ?string $header, string $secret): bool
{
    $expected = 'sha256=' . hash_hmac('sha256', $rawBody, $secret);
    return hash_equals($expected, $header ?? '');
}`;

const go = `package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// rawBody: the bytes as they came, before any JSON decoder.
// header: r.Header.Get("X-Service-Signature")
func IsFromFormloom(rawBody []byte, header, secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(rawBody)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(header), []byte(expected))
}`;

export const snippets: readonly Snippet[] = [
  { id: 'node', label: 'Node', code: node },
  { id: 'python', label: 'Python', code: python },
  { id: 'php', label: 'PHP', code: php },
  { id: 'go', label: 'Go', code: go },
];
