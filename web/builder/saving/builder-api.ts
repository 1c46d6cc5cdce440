import type { BuilderForm, DraftSaved } from '#console/forms/shapes.ts';
import type { FormNode } from '#ast/tree.ts';
import { ApiProblem, get, post, put } from '../../api/client.ts';
import { refreshSession } from '../../shell/session.ts';
import type { Save, SaveOutcome } from './autosave.ts';

export type { BuilderForm };

/** What the builder asks of the service; `path` is `/workspaces/<w>/forms/<f>`. They throw ApiProblem. */
export const readBuilder = (path: string): Promise<BuilderForm> => get(`${path}/builder`);
export const publishDraft = (
  path: string,
  seen: { revision: number; version: number },
): Promise<BuilderForm> => post(`${path}/publish`, seen);
export const changeStatus = (path: string, status: 'draft' | 'archived'): Promise<BuilderForm> =>
  put(`${path}/status`, { status });
export const copyAsNewForm = (path: string, structure: FormNode): Promise<{ id: string }> =>
  post(`${path}/copies`, { structure });

/** One save, with what became of it instead of an exception. */
export async function sendSave(path: string, save: Save): Promise<SaveOutcome> {
  try {
    const saved = await put<DraftSaved>(`${path}/draft`, save);
    return { kind: 'saved', revision: saved.revision, savedAt: saved.saved_at };
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    // The session has ended: whoever asks for it hears so, and is led to the sign-in and back to what is kept here.
    if (error.status === 401) void refreshSession();
    return { kind: outcomeOf(error.status), message: error.message };
  }
}

/** A service that is away, starting or busy is tried again; what it refused is not. */
function outcomeOf(status: number): 'conflict' | 'offline' | 'refused' {
  if (status === 412) return 'conflict';
  return status === 0 || status === 429 || status >= 500 ? 'offline' : 'refused';
}
