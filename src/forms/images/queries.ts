import { jsonb, statement } from '#kit/statement.ts';

/** The bytes of each, by its name like `800.avif`. */
const renditions = jsonb<Readonly<Record<string, number>>>();

/** No row when the workspace has as many as it may have. */
export const insertImage = statement(
  'insert_form_image',
  ['workspace_id id content_type size:integer width height limit now', { renditions }],
  'id',
  `insert into form_images (workspace_id, id, content_type, size, width, height, renditions, created_at, named_at)
   select $workspace_id, $id, $content_type, $size, $width, $height, $renditions, $now, $now
   where (select count(*) from form_images where workspace_id = $workspace_id) < $limit
   returning id`,
);

/** Notes that settings name these images, and says which of them there are. */
export const nameImages = statement(
  'name_form_images',
  'workspace_id ids now',
  'id',
  `update form_images set named_at = $now
   where workspace_id = $workspace_id and id = any ($ids) and removed_at is null
   returning id`,
);

/** Which of these images there are, and their sizes. */
export const findImages = statement(
  'find_form_images',
  'workspace_id ids',
  ['id size:integer width? height?', { renditions }],
  `select id, size, width, height, renditions from form_images where workspace_id = $workspace_id and id = any ($ids) and removed_at is null`,
);

/** An image by the id of a form of its workspace, as the public page asks for it. */
export const findImage = statement(
  'find_form_image',
  'form_id id',
  ['workspace_id content_type size:integer', { renditions }],
  `select i.workspace_id, i.content_type, i.size, i.renditions
   from form_lookup l
   join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
   join form_images i on i.workspace_id = l.workspace_id and i.id = $id
   where l.form_id = $form_id and f.deleted_at is null and i.removed_at is null`,
);

/**
 * Takes hold of images that no form, no working copy and no version has named for a day, in a theme or an element, and of those that a stop left
 * behind. Structures are read as text, as they were written: a working copy may be anything. The outer condition is what PostgreSQL looks at again
 * when a form named the image first.
 */
export const takeUnnamedImages = statement(
  'take_unnamed_form_images',
  'before now',
  ['workspace_id id', { renditions }],
  `/* sweep: across workspaces */
   with named as materialized (
     select f.workspace_id, used.id
     from forms f
     cross join lateral (
       select theme.image #>> '{}'
       from (
         select f.settings
         union all
         select d.settings from form_drafts d where d.workspace_id = f.workspace_id and d.form_id = f.id
         union all
         select v.settings from form_versions v where v.workspace_id = f.workspace_id and v.form_id = f.id) kept
       cross join lateral jsonb_path_query(kept.settings, '$.theme.*') theme (image)
       union all
       select (regexp_matches(shown.structure, '"image":"([0-9a-f-]{36})"', 'g'))[1]
       from (
         select d.structure::text from form_drafts d where d.workspace_id = f.workspace_id and d.form_id = f.id
         union all
         select v.structure::text from form_versions v where v.workspace_id = f.workspace_id and v.form_id = f.id) shown
       where position('"image":"' in shown.structure) > 0) used (id)
     where f.deleted_at is null
       and f.workspace_id in (select workspace_id from form_images where named_at < $before))
   update form_images set removed_at = coalesce(removed_at, $now)
   where (workspace_id, id) in (
     select i.workspace_id, i.id from form_images i
     where i.named_at < $before
       and not exists (select from named where named.workspace_id = i.workspace_id and named.id = i.id::text)
     order by i.named_at limit 500)
     and named_at < $before
   returning workspace_id, id, renditions`,
);

/** Takes hold of all images of a workspace that is deleted; there are at most 500. */
export const takeImagesOfWorkspace = statement(
  'take_form_images_of_workspace',
  'workspace_id now',
  ['workspace_id id', { renditions }],
  `update form_images set removed_at = coalesce(removed_at, $now) where workspace_id = $workspace_id
   returning workspace_id, id, renditions`,
);

/** The last step, after the bytes are gone. */
export const deleteImage = statement(
  'delete_form_image',
  'workspace_id id',
  '',
  `delete from form_images where workspace_id = $workspace_id and id = $id and removed_at is not null`,
);

/** Every image: there are at most 500 of a workspace. */
export const selectStoredImages = statement(
  'select_stored_form_images',
  'of_workspace:uuid?',
  ['workspace_id id size:integer', { renditions }],
  `/* sweep: across workspaces */
   select workspace_id, id, size, renditions from form_images
    where removed_at is null and ($of_workspace is null or workspace_id = $of_workspace)`,
);
