/** A file on its way: its field and the URL for uploads. A signal with the reason `canceled` also deletes it. */
export type Upload = {
  readonly file: File;
  readonly field: string;
  readonly address: string;
  readonly signal: AbortSignal;
  readonly showProgress: (bytes: number) => void;
};

export type UploadResponse = {
  readonly status: number;
  readonly responseText: string;
  getResponseHeader(name: string): string | null;
};
export type SendRequest = (
  method: string,
  url: string,
  given: {
    signal?: AbortSignal;
    headers?: Readonly<Record<string, string>>;
    body?: FormData | Blob;
    onProgress?: (sent: number, total: number) => void;
  },
) => Promise<UploadResponse>;

/** The server accepts any size, but a lost connection costs the visitor at most one piece. */
const pieceBytes = 8 * 1024 * 1024;

/** Retries without progress before the visitor is asked, over about two minutes: a server may be restarting. */
const mostFailures = 8;

/** Uploads in progress, by the name of their URL in this window. */
const active = new Set<string>();

/**
 * Sends a file in pieces by the tus protocol (src/page/resumable-upload-routes.ts). It continues after a lost
 * connection, and after a reload if the visitor chooses the file again.
 * @returns the last response, as for a file that is sent at once.
 */
export async function sendInPieces(
  { file, field, address, signal, showProgress }: Upload,
  send: SendRequest,
): Promise<Pick<UploadResponse, 'status' | 'responseText'>> {
  const name = `formloom upload ${address} ${field} ${file.name} ${file.size} ${file.lastModified}`;
  const isFirst = !active.has(name);
  let url = isFirst ? recall(name) : null;
  const remember = (next: string | null): void => {
    url = next;
    if (isFirst) store(name, next);
  };
  const leave = <Response>(response: Response): Response => {
    if (signal.reason === 'canceled' && url !== null) {
      void send('DELETE', url, {});
      remember(null);
    }
    return response;
  };
  active.add(name);
  let offset: number | undefined;
  let failures = 0;
  try {
    for (;;) {
      const response =
        url === null
          ? await send('POST', address, { signal, headers: creationHeaders(file, field) })
          : offset === undefined
            ? await send('HEAD', url, { signal })
            : await send('PATCH', url, {
                signal,
                headers: {
                  'Content-Type': 'application/offset+octet-stream',
                  'Upload-Offset': String(offset),
                },
                body: file.slice(offset, offset + pieceBytes),
                onProgress: (sent) => showProgress(offset! + sent),
              });
      const { status } = response;
      if (signal.aborted) return leave(response);
      if (status === 201) {
        remember(response.getResponseHeader('Location'));
        offset = 0;
      } else if (status === 200 || status === 204) {
        const stored = Number(response.getResponseHeader('Upload-Offset'));
        if (stored === file.size && status === 200 && url !== null) {
          const answer = storedFile(file, url, response.getResponseHeader('Upload-Metadata') ?? '');
          remember(null);
          return { status: 201, responseText: JSON.stringify(answer) };
        }
        // After the last byte, HEAD returns the type that the server detected.
        offset = stored === file.size ? undefined : stored;
        if (status === 204) failures = 0;
        showProgress(stored);
      } else {
        const isLost = url !== null && (status === 404 || status === 410);
        if (isLost) remember(null);
        else if (status >= 400 && status < 500 && status !== 408 && status !== 409) return response;
        failures += 1;
        if (failures > mostFailures) return response;
        offset = undefined;
        await new Promise((resolve) => setTimeout(resolve, Math.min(30_000, 500 * 2 ** failures)));
        if (signal.aborted) return leave(response);
      }
    }
  } finally {
    if (isFirst) active.delete(name);
  }
}

const encode = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

const creationHeaders = ({ name, size, type }: File, field: string): Record<string, string> => ({
  'Upload-Length': String(size),
  'Upload-Metadata': Object.entries({ field, filename: name, filetype: type })
    .map(([key, value]) => `${key} ${encode(value)}`)
    .join(','),
});

/** Describes the uploaded file as the server does. The last part of its URL is its token. */
function storedFile({ name, size, type }: File, url: string, metadata: string) {
  const detected = /filetype (\S+?)(?:,|$)/.exec(metadata)?.[1];
  const token = new URL(url, location.href).pathname.split('/').at(-1);
  return { token, filename: name, size, content_type: detected ? atob(detected) : type };
}

/** Returns the URL of an upload that was begun in this window. */
function recall(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    // Browsers may deny the storage. The upload then begins again after a reload.
    return null;
  }
}

function store(name: string, url: string | null): void {
  try {
    if (url === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, url);
  } catch {
    // See above; it may also be full.
  }
}
