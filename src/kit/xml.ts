import sax, { type SAXParser } from 'sax';

/** Handles the parts of an XML text. Names have no prefix. */
export type XmlHandler = {
  open?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  /** A long text arrives in pieces. */
  text?: (text: string) => void;
  close?: (name: string) => void;
};

/** Far more than supported formats need. Levels and attributes take memory until their element ends. */
const limits = { depth: 100, attributes: 200 } as const;

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

/**
 * Parses XML in UTF-8 from a stream, in constant memory. The parser knows only the five entities of XML, and
 * loads nothing.
 * @throws Error if the text is not well-formed, has a document type, or exceeds a limit; also what `handler`
 * throws.
 */
export async function parseXml(chunks: AsyncIterable<Uint8Array>, handler: XmlHandler): Promise<void> {
  const parser = sax.parser(true);
  let depth = 0;
  let attributes = 0;
  const events: Partial<SAXParser> = {
    onerror({ message }) {
      // Keeps the first line; the others give the position.
      throw new Error(message.split('\n')[0]);
    },
    ondoctype() {
      throw new Error('It has a document type (DOCTYPE), which is not allowed.');
    },
    onattribute() {
      attributes += 1;
      if (attributes > limits.attributes) throw new Error('An XML element has too many attributes.');
    },
    onopentag(tag) {
      depth += 1;
      attributes = 0;
      if (depth > limits.depth) throw new Error('Its XML is nested too deeply.');
      handler.open?.(withoutPrefix(tag.name), tag.attributes as Record<string, string>);
    },
    onclosetag(name) {
      depth -= 1;
      handler.close?.(withoutPrefix(name));
    },
    ontext: (text) => handler.text?.(text),
    oncdata: (text) => handler.text?.(text),
  };
  Object.assign(parser, events);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of chunks) parser.write(decoder.decode(chunk, { stream: true }));
  parser.write(decoder.decode()).close();
}
