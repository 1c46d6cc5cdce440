-- Pictures of themes are kept in the sizes and formats that pages ask for: the name of each, like "800.avif", with its
-- bytes. What was uploaded before has one size, and is served as it came.
alter table form_images
  add column width integer check (width > 0),
  add column height integer check (height > 0),
  add column renditions jsonb not null default '{}';
