/**
 * Writes ONNX models (github.com/onnx/onnx, onnx/onnx.proto3): as much of the format as graphs of a few nodes need.
 * Protocol Buffers encoding: protobuf.dev/programming-guides/encoding.
 */

export type Dimension = number | string
export type Element = 'float' | 'int32' | 'int64'

export interface Value {
  name: string
  type: Element
  /** A name stands for a size that is known when it runs. */
  shape: readonly Dimension[]
}

export interface Constant {
  type: Element
  shape: readonly number[]
  values: readonly number[]
}

export interface Node {
  op: string
  inputs: readonly string[]
  outputs: readonly string[]
  /** Whole numbers, and lists of them. */
  attributes?: Readonly<Record<string, number | readonly number[]>>
}

export interface Graph {
  inputs: readonly Value[]
  outputs: readonly Value[]
  constants: Readonly<Record<string, Constant>>
  nodes: readonly Node[]
  metadata: Readonly<Record<string, string | number>>
}

const IR_VERSION = 8
const OPSET = 13
/** TensorProto.DataType. */
const DATA_TYPES = { float: 1, int32: 6, int64: 7 } as const
/** AttributeProto.AttributeType. */
const INT = 2
const INTS = 7

/** The bytes of a model's file. */
export function onnx(graph: Graph): Buffer {
  return Buffer.concat([
    integer(1, IR_VERSION),
    text(2, 'patchbay-test'),
    message(7, graphOf(graph)),
    message(8, [text(1, ''), integer(2, OPSET)]),
    ...Object.entries(graph.metadata).map(([key, value]) => message(14, [text(1, key), text(2, String(value))])),
  ])
}

function graphOf({ inputs, outputs, constants, nodes }: Graph): Buffer[] {
  return [
    ...nodes.map(({ op, inputs, outputs, attributes = {} }) =>
      message(1, [
        ...inputs.map((name) => text(1, name)),
        ...outputs.map((name) => text(2, name)),
        text(4, op),
        ...Object.entries(attributes).map(([name, value]) => message(5, attribute(name, value))),
      ]),
    ),
    text(2, 'graph'),
    ...Object.entries(constants).map(([name, constant]) => message(5, tensor(name, constant))),
    ...inputs.map((value) => message(11, valueInfo(value))),
    ...outputs.map((value) => message(12, valueInfo(value))),
  ]
}

function attribute(name: string, value: number | readonly number[]): Buffer[] {
  if (typeof value === 'number') return [text(1, name), integer(3, value), integer(20, INT)]
  return [text(1, name), ...value.map((one) => integer(8, one)), integer(20, INTS)]
}

function tensor(name: string, { type, shape, values }: Constant): Buffer[] {
  const raw =
    type === 'float'
      ? Buffer.from(Float32Array.from(values).buffer)
      : type === 'int32'
        ? Buffer.from(Int32Array.from(values).buffer)
        : Buffer.from(BigInt64Array.from(values, BigInt).buffer)
  return [...shape.map((size) => integer(1, size)), integer(2, DATA_TYPES[type]), text(8, name), bytes(9, raw)]
}

function valueInfo({ name, type, shape }: Value): Buffer[] {
  const dimensions = shape.map((one) => message(1, [typeof one === 'number' ? integer(1, one) : text(2, one)]))
  const tensorType = message(1, [integer(1, DATA_TYPES[type]), message(2, dimensions)])
  return [text(1, name), message(2, [tensorType])]
}

const VARINT = 0
const LENGTH_DELIMITED = 2

function varint(value: number): Buffer {
  // Negative numbers are their 64-bit two's complement.
  let rest = BigInt.asUintN(64, BigInt(value))
  const out: number[] = []
  do {
    const byte = Number(rest & 127n)
    rest >>= 7n
    out.push(rest > 0n ? byte | 128 : byte)
  } while (rest > 0n)
  return Buffer.from(out)
}

const tag = (field: number, type: number): Buffer => varint(field * 8 + type)
const integer = (field: number, value: number): Buffer => Buffer.concat([tag(field, VARINT), varint(value)])
const bytes = (field: number, body: Buffer): Buffer =>
  Buffer.concat([tag(field, LENGTH_DELIMITED), varint(body.length), body])
const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value))
const message = (field: number, parts: readonly Buffer[]): Buffer => bytes(field, Buffer.concat(parts))
