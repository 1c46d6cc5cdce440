import { ApiProblem } from '../../api/client.ts';

/** What the service stores (src/forms/images). */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
const mostBytes = 2 * 1024 * 1024;

/**
 * Sends an image as it is and returns its id. What can be known here is refused here, in the same words.
 * @throws ApiProblem with a message for people.
 */
export async function uploadImage(workspaceId: string, file: File): Promise<string> {
  if (!imageTypes.some((type) => type === file.type))
    throw new ApiProblem(415, { message: 'This is no PNG, JPEG or WebP image.' });
  if (file.size > mostBytes)
    throw new ApiProblem(413, { message: 'The image is larger than 2 MB. Choose a smaller one.' });
  const response = await send(workspaceId, file);
  const body = (await response.json().catch(() => ({}))) as { id?: string; message?: string };
  if (!response.ok || body.id === undefined) throw new ApiProblem(response.status, body);
  return body.id;
}

async function send(workspaceId: string, file: File): Promise<Response> {
  try {
    return await fetch(`/app/api/workspaces/${workspaceId}/images`, {
      method: 'POST',
      headers: { Accept: 'application/json', 'Content-Type': file.type },
      body: file,
    });
  } catch {
    throw new ApiProblem(0, {
      message: 'The service cannot be reached. Check the connection and try again.',
    });
  }
}
