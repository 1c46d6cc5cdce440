import { ApiProblem } from './client.ts';
import { callOperation } from './operations.ts';

/** The image types that the service stores (src/forms/images). */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
const mostBytes = 10 * 1024 * 1024;

/**
 * Uploads an image unchanged and returns its ID. Problems that the browser can detect are reported with the
 * server's messages.
 * @throws ApiProblem with a message for the user.
 */
export async function uploadImage(workspaceId: string, file: File): Promise<string> {
  if (!imageTypes.some((type) => type === file.type))
    throw new ApiProblem(415, { message: 'This file is not a PNG, JPEG or WebP image.' });
  if (file.size > mostBytes)
    throw new ApiProblem(413, { message: 'The image is larger than 10 MB. Choose a smaller one.' });
  return (await callOperation(workspaceId, 'createImage', { body: file })).id;
}
