import com.epam.parso.Column;
import com.epam.parso.date.OutputDateType;
import com.epam.parso.impl.SasFileReaderImpl;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Dumps data sets as text by Parso: reads lines "data set TAB output", answers each with "done". */
public final class Dump {
    private Dump() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split("\t");
            try (BufferedWriter out = Files.newBufferedWriter(Path.of(words[1]))) {
                try {
                    out.write("end\t" + dump(words[0], out) + "\n");
                } catch (Throwable error) {
                    String message = String.valueOf(error.getMessage()).replaceAll("[\\t\\n]", " ");
                    out.write("error\t" + error.getClass().getSimpleName() + ": " + message + "\n");
                }
            }
            System.out.println("done");
            System.out.flush();
        }
    }

    private static long dump(String path, Writer out) throws Exception {
        long count = 0;
        try (InputStream in = new BufferedInputStream(new FileInputStream(path), 1 << 16)) {
            SasFileReaderImpl reader = new SasFileReaderImpl(in, null, OutputDateType.SAS_VALUE);
            out.write("label\t" + escaped(reader.getSasFileProperties().getFileLabel()) + "\n");
            List<Column> columns = reader.getColumns();
            boolean[] numeric = new boolean[columns.size()];
            for (int index = 0; index < numeric.length; index++) {
                Column column = columns.get(index);
                numeric[index] = column.getType() == Number.class;
                out.write("column\t" + escaped(column.getName())
                        + (numeric[index] ? "\tnum\t" : "\tchar\t") + column.getLength()
                        + "\t" + escaped(format(column)) + "\t" + escaped(column.getLabel()) + "\n");
            }
            for (Object[] row = reader.readNext(); row != null; row = reader.readNext()) {
                StringBuilder text = new StringBuilder("row");
                for (int index = 0; index < numeric.length; index++) {
                    text.append('\t').append(value(row[index], numeric[index]));
                }
                out.write(text.append('\n').toString());
                count++;
            }
        }
        return count;
    }

    private static String format(Column column) {
        String text = column.getFormat().getName();
        if (column.getFormat().getWidth() > 0) {
            text += column.getFormat().getWidth();
        }
        if (column.getFormat().getPrecision() > 0) {
            text += "." + column.getFormat().getPrecision();
        }
        return text;
    }

    private static String value(Object value, boolean numeric) {
        if (!numeric) {
            return "'" + escaped(value == null ? "" : value.toString());
        }
        if (value == null) {
            return ".";
        }
        double number = ((Number) value).doubleValue();
        return Double.isNaN(number)
                ? "."
                : String.format("x%016x", Double.doubleToRawLongBits(number));
    }

    private static String escaped(String text) {
        if (text == null) {
            return "";
        }
        int end = text.length();
        while (end > 0 && (text.charAt(end - 1) == ' ' || text.charAt(end - 1) == 0)) {
            end--;
        }
        return text.substring(0, end)
                .replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }
}
