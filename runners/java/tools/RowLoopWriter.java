package rowpath.tools;

import static org.objectweb.asm.Opcodes.*;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;

/**
 * Writes the class of a row loop; the shape comes as strings, see {@code rowpath.RowLoops}.
 *
 * <p>What it writes reads, for a source S with two columns:
 *
 * <pre>{@code
 * long rows = 0, sum = 0;
 * while (source.next()) {
 *   sum += Touch.of(source.getInt(1));
 *   sum += Touch.of(source.getString(2));
 *   if (rows++ == 0) counters.firstRow();
 * }
 * counters.rows += rows; counters.touch += sum;
 * }</pre>
 *
 * and for the digest {@code encoder.value(…)} in the place of {@code Touch.of(…)}. The values of a
 * wide row are taken in methods of {@link #PART} columns each.
 *
 * <p>Each getter has a handler behind the method's last statement, for a value that it does not
 * hand over: {@code sum += Unusual.touch(thrown, source, 1, "DATE")}, {@code sum +=
 * encoder.unusual(thrown)}. A value without an exception never passes it.
 */
public final class RowLoopWriter implements Function<List<String[]>, byte[]> {
  // The JVM does not compile methods of more than 8,000 bytes and takes none of more than 65,535.
  private static final int PART = 128;
  private static final String LOOP = "rowpath/GeneratedRowLoop";
  private static final String TOUCH = "rowpath/Touch";
  private static final String COUNTERS = "rowpath/SampleCounters";
  private static final String ENCODER = "rowpath/Encoder";
  private static final String UNUSUAL = "rowpath/Unusual";
  private static final String EXCEPTION = "java/lang/Exception";
  private static final int SOURCE = 4;
  private static final int ROWS = 5;
  private static final int SUM = 7;

  @Override
  public byte[] apply(List<String[]> shape) {
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES);
    writer.visit(V17, ACC_FINAL, LOOP, null, "java/lang/Object", new String[] {"rowpath/RowLoop"});
    MethodVisitor constructor = writer.visitMethod(0, "<init>", "()V", null, null);
    constructor.visitCode();
    constructor.visitVarInsn(ALOAD, 0);
    constructor.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
    constructor.visitInsn(RETURN);
    constructor.visitMaxs(0, 0);
    constructor.visitEnd();
    for (boolean digest : new boolean[] {false, true}) {
      loop(writer, shape, digest);
      if (isSplit(shape)) {
        for (int from = 1; from < shape.size(); from += PART) {
          part(writer, shape, digest, from);
        }
      }
    }
    writer.visitEnd();
    return writer.toByteArray();
  }

  private static void loop(ClassWriter writer, List<String[]> shape, boolean digest) {
    String source = shape.get(0)[0];
    boolean isInterface = Boolean.parseBoolean(shape.get(0)[1]);
    MethodVisitor code =
        writer.visitMethod(
            ACC_PUBLIC,
            digest ? "digest" : "touch",
            "(Ljava/lang/Object;L" + COUNTERS + ";" + (digest ? "L" + ENCODER + ";" : "") + ")V",
            null,
            new String[] {"java/lang/Exception"});
    code.visitCode();
    code.visitVarInsn(ALOAD, 1);
    code.visitTypeInsn(CHECKCAST, source);
    code.visitVarInsn(ASTORE, SOURCE);
    code.visitInsn(LCONST_0);
    code.visitVarInsn(LSTORE, ROWS);
    code.visitInsn(LCONST_0);
    code.visitVarInsn(LSTORE, SUM);
    Label next = new Label();
    Label end = new Label();
    code.visitLabel(next);
    call(code, source, "next", "()Z", isInterface);
    code.visitJumpInsn(IFEQ, end);
    if (digest) {
      code.visitVarInsn(ALOAD, 3);
      code.visitVarInsn(ALOAD, SOURCE);
      code.visitMethodInsn(INVOKEVIRTUAL, ENCODER, "beginRow", "(Ljava/lang/Object;)V", false);
    }
    List<Handler> handlers = new ArrayList<>();
    for (int column = 1; !isSplit(shape) && column < shape.size(); column++) {
      handlers.add(value(code, source, isInterface, column, shape.get(column), digest));
    }
    for (int from = 1; isSplit(shape) && from < shape.size(); from += PART) {
      code.visitVarInsn(LLOAD, SUM);
      code.visitVarInsn(ALOAD, SOURCE);
      code.visitVarInsn(ALOAD, digest ? 3 : 2);
      code.visitMethodInsn(
          INVOKESTATIC, LOOP, partName(digest, from), partDescriptor(source, digest), false);
      code.visitInsn(LADD);
      code.visitVarInsn(LSTORE, SUM);
    }
    if (digest) {
      code.visitVarInsn(ALOAD, 3);
      code.visitMethodInsn(INVOKEVIRTUAL, ENCODER, "endRow", "()V", false);
    }
    code.visitVarInsn(LLOAD, ROWS);
    code.visitInsn(LCONST_1);
    code.visitInsn(LADD);
    code.visitInsn(DUP2);
    code.visitVarInsn(LSTORE, ROWS);
    code.visitInsn(LCONST_1);
    code.visitInsn(LCMP);
    code.visitJumpInsn(IFNE, next);
    code.visitVarInsn(ALOAD, 2);
    code.visitMethodInsn(INVOKEVIRTUAL, COUNTERS, "firstRow", "()V", false);
    code.visitJumpInsn(GOTO, next);
    code.visitLabel(end);
    add(code, "rows", ROWS);
    add(code, "touch", SUM);
    code.visitInsn(RETURN);
    handlers.forEach(handler -> handler.write(code, digest));
    code.visitMaxs(0, 0);
    code.visitEnd();
  }

  /**
   * One part of a wide row: {@code static long touch1(source, counters)}, its values' touch sum.
   */
  private static void part(ClassWriter writer, List<String[]> shape, boolean digest, int from) {
    String source = shape.get(0)[0];
    MethodVisitor code =
        writer.visitMethod(
            ACC_PRIVATE | ACC_STATIC,
            partName(digest, from),
            partDescriptor(source, digest),
            null,
            new String[] {"java/lang/Exception"});
    code.visitCode();
    code.visitVarInsn(ALOAD, 0);
    code.visitVarInsn(ASTORE, SOURCE);
    code.visitVarInsn(ALOAD, 1);
    code.visitVarInsn(ASTORE, 3);
    code.visitInsn(LCONST_0);
    code.visitVarInsn(LSTORE, SUM);
    List<Handler> handlers = new ArrayList<>();
    boolean isInterface = Boolean.parseBoolean(shape.get(0)[1]);
    for (int column = from; column < Math.min(from + PART, shape.size()); column++) {
      handlers.add(value(code, source, isInterface, column, shape.get(column), digest));
    }
    code.visitVarInsn(LLOAD, SUM);
    code.visitInsn(LRETURN);
    handlers.forEach(handler -> handler.write(code, digest));
    code.visitMaxs(0, 0);
    code.visitEnd();
  }

  private static boolean isSplit(List<String[]> shape) {
    return shape.size() - 1 > PART;
  }

  private static String partName(boolean digest, int from) {
    return (digest ? "digest" : "touch") + from;
  }

  private static String partDescriptor(String source, boolean digest) {
    return "(L" + source + ";L" + (digest ? ENCODER : COUNTERS) + ";)J";
  }

  /** What takes a value that its getter, between {@code from} and {@code to}, has not delivered. */
  private record Handler(int column, String type, Label from, Label to, Label resume) {
    void write(MethodVisitor code, boolean digest) {
      Label handler = new Label();
      code.visitTryCatchBlock(from, to, handler, EXCEPTION);
      code.visitLabel(handler);
      if (digest) {
        code.visitVarInsn(ALOAD, 3);
        code.visitInsn(SWAP);
        code.visitMethodInsn(INVOKEVIRTUAL, ENCODER, "unusual", "(L" + EXCEPTION + ";)J", false);
      } else {
        code.visitVarInsn(ALOAD, SOURCE);
        code.visitLdcInsn(column);
        code.visitLdcInsn(type);
        code.visitMethodInsn(
            INVOKESTATIC,
            UNUSUAL,
            "touch",
            "(L" + EXCEPTION + ";Ljava/lang/Object;ILjava/lang/String;)J",
            false);
      }
      code.visitVarInsn(LLOAD, SUM);
      code.visitInsn(LADD);
      code.visitVarInsn(LSTORE, SUM);
      code.visitJumpInsn(GOTO, resume);
    }
  }

  private static Handler value(
      MethodVisitor code,
      String source,
      boolean isInterface,
      int column,
      String[] shape,
      boolean digest) {
    String owner = shape[0];
    String method = shape[1];
    String argument = shape[2];
    String returns = shape[3];
    String encoder = shape[4];
    String takes = shape[5];
    boolean nullable = Boolean.parseBoolean(shape[6]);
    boolean primitive = returns.length() == 1;
    Handler handler = new Handler(column, shape[7], new Label(), new Label(), new Label());

    code.visitVarInsn(LLOAD, SUM);
    if (digest) {
      code.visitVarInsn(ALOAD, 3);
    }
    code.visitLabel(handler.from());
    code.visitVarInsn(ALOAD, SOURCE);
    code.visitLdcInsn(column);
    if (!owner.isEmpty()) {
      code.visitMethodInsn(INVOKESTATIC, owner, method, "(L" + source + ";I)" + returns, false);
    } else if (!argument.isEmpty()) {
      code.visitLdcInsn(Type.getType(argument));
      invoke(code, source, method, "(ILjava/lang/Class;)Ljava/lang/Object;", isInterface);
      code.visitTypeInsn(CHECKCAST, Type.getType(returns).getInternalName());
    } else {
      invoke(code, source, method, "(I)" + returns, isInterface);
    }
    code.visitLabel(handler.to());
    if (returns.equals("I")) {
      code.visitInsn(I2L);
    }
    if (digest) {
      String natural = primitive ? takes + "Z" : "Ljava/lang/Object;";
      if (primitive) {
        call(code, source, "wasNull", "()Z", isInterface);
      }
      code.visitMethodInsn(INVOKEVIRTUAL, ENCODER, encoder, "(" + natural + ")J", false);
    } else {
      code.visitMethodInsn(INVOKESTATIC, TOUCH, "of", "(" + takes + ")J", false);
      if (primitive && nullable) {
        call(code, source, "wasNull", "()Z", isInterface);
        code.visitMethodInsn(INVOKESTATIC, TOUCH, "unless", "(JZ)J", false);
      }
    }
    code.visitInsn(LADD);
    code.visitVarInsn(LSTORE, SUM);
    code.visitLabel(handler.resume());
    return handler;
  }

  private static void add(MethodVisitor code, String field, int local) {
    code.visitVarInsn(ALOAD, 2);
    code.visitInsn(DUP);
    code.visitFieldInsn(GETFIELD, COUNTERS, field, "J");
    code.visitVarInsn(LLOAD, local);
    code.visitInsn(LADD);
    code.visitFieldInsn(PUTFIELD, COUNTERS, field, "J");
  }

  private static void call(
      MethodVisitor code, String source, String method, String descriptor, boolean isInterface) {
    code.visitVarInsn(ALOAD, SOURCE);
    invoke(code, source, method, descriptor, isInterface);
  }

  private static void invoke(
      MethodVisitor code, String source, String method, String descriptor, boolean isInterface) {
    code.visitMethodInsn(
        isInterface ? INVOKEINTERFACE : INVOKEVIRTUAL, source, method, descriptor, isInterface);
  }
}
