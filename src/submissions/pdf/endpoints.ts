import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { attachmentHeader } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import { languageParameter } from '../shapes.ts';
import { paperSizes } from './document.ts';
import { type PdfServices, type RenderedPdf, renderSubmissionPdf } from './render-submission-pdf.ts';

/** Returns the headers of a PDF that browsers save under the name of its form. */
export const pdfHeaders = ({ formName, ending }: RenderedPdf) => ({
  'Content-Type': 'application/pdf',
  ...attachmentHeader(formName, ending),
});

/** Operation that returns one submission as a document for people. */
export const getSubmissionPdfEndpoint = (services: PdfServices) =>
  operation({
    summary: 'Get submission as PDF',
    description:
      'Returns the answers as a PDF for people: with the logo and color of the form, its steps, pictures and signatures. It is tagged for screen readers. PDFs of a workspace are rendered one after the other: 429 while ten wait.',
    permission: 'submissions:read',
    audit: 'entry by people',
    params: idParameter,
    query: Type.Object(
      {
        size: Type.Optional(Type.Enum([...paperSizes], { description: 'The paper size. Defaults to A4.' })),
        certificate: Type.Optional(
          Type.Boolean({
            description:
              'Returns the certificate of a quiz instead of the answers. 404 if a pass mark is not reached, or the form offers no certificate.',
          }),
        ),
        language: languageParameter,
      },
      { additionalProperties: false },
    ),
    reply: { status: 200, description: 'The file.', content: ['application/pdf'] },
    async run({ workspaceId, formIds, params, query }) {
      const pdf = await renderSubmissionPdf(services, {
        ...query,
        workspaceId,
        id: params.id,
        isForVisitor: false,
        requireForm: (formId) => requireFormAccess(formIds, formId),
      });
      return { headers: pdfHeaders(pdf), stream: Readable.from([pdf.bytes]) };
    },
  });
