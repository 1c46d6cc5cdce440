/** The kinds of file that submissions are exported as. */
export type ExportFormat = 'csv' | 'xlsx' | 'ndjson';
export const exportFormats = ['csv', 'xlsx', 'ndjson'] as const satisfies ExportFormat[];

/** Their media types. */
export const exportTypes = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ndjson: 'application/x-ndjson',
} as const satisfies Record<ExportFormat, string>;
