import { schemaReference } from '../basics/json-schema.ts';
import { formLimits } from '../basics/limits.ts';
import type { FileAnswer, FileRules } from '../rules/check-files.ts';
import { defineInputType } from './definition.ts';
import { countAttribute, inputAttributes, questionAttributes } from './shared-attributes.ts';

export const fileUpload = defineInputType({
  title: 'File upload',
  icon: 'M10 12.5v-9M6.5 6.5 10 3l3.5 3.5M4 10.5V16.5h12v-6',
  words: 'upload attachment document image cv pdf',
  attrs: {
    ...inputAttributes,
    accept: { kind: 'file-types', title: 'File types' },
    max_file_size: { kind: 'bytes', title: 'Maximum file size', min: 1, max: formLimits.fileBytes },
    min_files: countAttribute('Minimum files', 0, formLimits.files),
    max_files: countAttribute('Maximum files', 1, formLimits.files),
  },
  summary: 'files',
  identifies: true,
  schema: (attrs) => ({
    type: 'array',
    items: schemaReference('File'),
    minItems: Math.max(1, attrs.min_files ?? 1),
    ...(attrs.max_files !== undefined && { maxItems: attrs.max_files }),
  }),
  samples: (attrs) => [Array.from({ length: attrs.min_files ?? 1 }, () => sampleFor(attrs))],
});

/** Its ID belongs to no file. The link in a test returns 404, as for a deleted file. */
const sampleFile: FileAnswer = {
  id: '00000000-0000-7000-8000-000000000000',
  filename: 'sample.pdf',
  size: 48_213,
  content_type: 'application/pdf',
};

/** Returns a sample file of the first accepted type, within the size limit. */
function sampleFor({ accept, max_file_size: most }: FileRules): FileAnswer {
  const size = Math.min(sampleFile.size, most ?? sampleFile.size);
  const type = accept?.[0];
  if (type === undefined) return { ...sampleFile, size };
  if (type.startsWith('.'))
    return { ...sampleFile, size, filename: `sample${type}`, content_type: 'application/octet-stream' };
  return { ...sampleFile, size, filename: 'sample', content_type: type.replace('*', 'sample') };
}

export const signature = defineInputType({
  title: 'Signature',
  icon: 'M3 16.5h14M4 12.5c3-7 5-9 6-8s-3 6-3 8 3-2 4-3 0 3 1 3 2-1 4-2',
  words: 'sign draw autograph name agree',
  attrs: questionAttributes,
  summary: 'given',
  identifies: true,
  schema: () => ({ type: 'array', items: schemaReference('File'), minItems: 1, maxItems: 1 }),
  samples: () => [[{ ...sampleFile, filename: 'signature.png', size: 8_213, content_type: 'image/png' }]],
});
