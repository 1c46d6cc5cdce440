/** Checks what responds at an origin: this service, another program, or nothing. It never rejects. */
export async function identifyServer(origin: string): Promise<'this' | 'other' | 'none'> {
  try {
    const response = await fetch(`${origin}/healthz`, {
      signal: AbortSignal.timeout(3_000),
      redirect: 'manual',
    });
    return response.status === 200 && (await response.text()) === '{"status":"ok"}' ? 'this' : 'other';
  } catch {
    return 'none';
  }
}
