import type { BuilderForm, DraftSaved } from '#console/forms/shapes.ts';
import type { Settings } from '#ast/settings.ts';
import { ApiProblem, get, patch, post, put } from '../../api/client.ts';
import { refreshSession } from '../../shell/session.ts';
import type { Save, SaveOutcome } from './autosave.ts';
import type { FormDocument } from './form-document.ts';

export type { BuilderForm };

/** What the builder asks of the service; `path` is `/workspaces/<w>/forms/<f>`. They throw ApiProblem. */
export const readBuilder = (path: string): Promise<BuilderForm> => get(`${path}/builder`);
export const publishDraft = (
  path: string,
  seen: { revision: number; version: number },
): Promise<BuilderForm> => post(`${path}/publish`, seen);
export const changeStatus = (path: string, status: 'draft' | 'archived'): Promise<BuilderForm> =>
  put(`${path}/status`, { status });
export const copyAsNewForm = (path: string, document: FormDocument): Promise<{ id: string }> =>
  post(`${path}/copies`, document);
/** The password holds at once: it is part of no working copy, since nobody may read it again. */
export const setPassword = (path: string, password: string): Promise<{ settings: Settings }> =>
  patch(`${path}/settings`, { settings: { password } });

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
