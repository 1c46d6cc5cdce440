import type { ReplyOf } from '#app/operations.ts';
import { ApiProblem } from '../../api/client.ts';
import { call, type Seen } from '../../api/operations.ts';
import { refreshSession } from '../../shell/session.ts';
import type { Save, SaveOutcome } from './autosave.ts';
import type { FormDocument } from './form-document.ts';

type DraftReply = ReplyOf<'getDraft'>;
/** A form as the builder opens it: its live version and its working copy, each a document of structure and settings. */
export type BuilderForm = Pick<DraftReply, 'form' | 'live'> & { draft: Omit<DraftReply, 'form' | 'live'> };
export type VersionDetail = ReplyOf<'getVersion'>;

/** What the builder asks of the service about one form; all of it throws ApiProblem. */
export type BuilderApi = ReturnType<typeof openBuilderApi>;
export function openBuilderApi(workspaceId: string, formId: string) {
  const params = { id: formId };
  const read = async (): Promise<BuilderForm> => {
    const { form, live, ...draft } = await call(workspaceId, 'getDraft', { params });
    return { form, live, draft };
  };
  return {
    formId,
    read,
    /** Publishes what was seen: this working copy, compared with this live version. */
    async publish({ etag, version }: { etag: string; version: number }): Promise<BuilderForm> {
      await call(workspaceId, 'publishForm', { params, body: { version } }, { seen: { etag } });
      return read();
    },
    /** What publishing this would touch, and what is not good in it; stores nothing. */
    tryOut: async (body: FormDocument, etag: string) => {
      const asked = { params, query: { dry_run: true }, body };
      const { dry_run: found } = await call(workspaceId, 'saveDraft', asked, { seen: { etag } });
      return found!;
    },
    become: (verb: 'unpublish' | 'archive' | 'restore', seen: Seen) =>
      call(workspaceId, `${verb}Form`, { params }, { seen }),
    copyAsNewForm: (document: FormDocument) => call(workspaceId, 'duplicateForm', { params, body: document }),
    /** The password holds at once: it is part of no working copy, since nobody may read it again. */
    setPassword: (password: string, seen: Seen) =>
      call(workspaceId, 'changeForm', { params, body: { settings: { password } } }, { seen }),
    versions: (page: number) => call(workspaceId, 'listVersions', { params, query: { page, per_page: 20 } }),
    version: (version: number): Promise<VersionDetail> =>
      call(workspaceId, 'getVersion', { params: { ...params, version } }),
    countAnswers: () => call(workspaceId, 'countAnswers', { params }),

    /** One save, with what became of it instead of an exception. */
    async save({ etag, ...body }: Save): Promise<SaveOutcome> {
      try {
        const saved = await call(workspaceId, 'saveDraft', { params, body }, { seen: { etag } });
        return { kind: 'saved', etag: saved.etag, savedAt: saved.saved_at ?? undefined };
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error;
        // The session has ended: whoever asks for it hears so, and is led to the sign-in and back to what is kept here.
        if (error.status === 401) void refreshSession();
        return { kind: outcomeOf(error.status), message: error.message };
      }
    },
  };
}

/** A service that is away, starting or busy is tried again; what it refused is not. */
function outcomeOf(status: number): 'conflict' | 'offline' | 'refused' {
  if (status === 412) return 'conflict';
  return status === 0 || status === 429 || status >= 500 ? 'offline' : 'refused';
}
