<?php
// Receives webhooks: verifies each delivery, handles it once, and answers. PHP 8 and later, no packages.
//
// The URL of the webhook: https://example.com/hooks/formloom
// Start: WEBHOOK_SECRET=whsec_... php -S 127.0.0.1:8080 receiver.php
// It then serves plain HTTP. Put it behind a proxy that terminates TLS for this URL.

const EVENTS = ["submission.created", "submission.updated", "submission.deleted"];

// --- verification -----------------------------------------------------------

// $rawBody: file_get_contents('php://input')
// $header: $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null
function isFromFormloom(string $rawBody, ?string $header, string $secret): bool
{
    $expected = 'sha256=' . hash_hmac('sha256', $rawBody, $secret);
    return hash_equals($expected, $header ?? '');
}

// The same with Standard Webhooks, which also rejects recorded deliveries that are sent again later.
// $headers: webhook-id, webhook-timestamp and webhook-signature. $now: Unix seconds.
function isStandardWebhook(string $rawBody, array $headers, string $secret, ?int $now = null): bool
{
    $id = $headers['webhook-id'] ?? '';
    $time = $headers['webhook-timestamp'] ?? '';
    if ($id === '' || !preg_match('/^\d+$/D', $time) || abs(($now ?? time()) - (int) $time) > 300) {
        return false;
    }
    $isEncoded = preg_match('/^whsec_([A-Za-z0-9+\/]{4,}={0,2})$/D', $secret, $found);
    $key = $isEncoded ? base64_decode($found[1]) : $secret;
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$rawBody", $key, true));
    $isOurs = false;
    // For a day after the secret changes, there are two signatures.
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $one) {
        $isOurs = hash_equals($expected, $one) || $isOurs;
    }
    return $isOurs;
}

// --- work -------------------------------------------------------------------

function handle(array $event): void
{
    $submission = $event['submission'];
    error_log($event['event'] . ' ' . $submission['id'] . ' ' . json_encode($submission['responses']["subject"] ?? null));
}

/** Calls handle() once for each delivery_id. A failed delivery is sent again. */
function handleOnce(array $event): bool
{
    $folder = getenv('SEEN_DIR') ?: 'seen';
    if (!is_dir($folder)) {
        @mkdir($folder, 0700, true);
    }
    // The file stands for a row with a unique key. It is better to write that row and your data in one transaction.
    $mark = $folder . '/' . preg_replace('/[^0-9A-Za-z-]/', '', $event['delivery_id']);
    if (file_exists($mark) || !($file = @fopen($mark, 'x'))) {
        return false;
    }
    fclose($file);
    try {
        if (in_array($event['event'], EVENTS, true)) {
            handle($event);
        }
    } catch (Throwable $error) {
        unlink($mark);
        throw $error;
    }
    return true;
}

// --- server -----------------------------------------------------------------

function answer(): void
{
    $secret = getenv('WEBHOOK_SECRET') ?: '';
    $rawBody = file_get_contents('php://input');
    $headers = [
        'webhook-id' => $_SERVER['HTTP_WEBHOOK_ID'] ?? '',
        'webhook-timestamp' => $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '',
        'webhook-signature' => $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '',
    ];
    $isOurs = $secret !== ''
        && isFromFormloom($rawBody, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null, $secret)
        && isStandardWebhook($rawBody, $headers, $secret);
    if (!$isOurs) {
        http_response_code(401);
        return;
    }
    try {
        echo handleOnce(json_decode($rawBody, true, 512, JSON_THROW_ON_ERROR)) ? "done\n" : "seen before\n";
    } catch (Throwable $error) {
        error_log((string) $error);
        http_response_code(500);
    }
}

if (PHP_SAPI !== 'cli') {
    answer();
}
