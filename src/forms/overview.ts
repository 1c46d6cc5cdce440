/** A form that visitors do not see, or never saw, is called what its working copy is called. */
export const draftJoin = `left join form_drafts d
     on d.workspace_id = f.workspace_id and d.form_id = f.id and (f.status = 'draft' or f.published_at is null)`;
export const shownName = `coalesce(d.name, f.name)`;
