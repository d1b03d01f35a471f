package com.example;

import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Departments and employees with Spring Data REST: HAL, pages, and ETags from versions. */
@SpringBootApplication
public class Employees {

  @Bean
  CommandLineRunner seed(DepartmentRepository departments, EmployeeRepository employees) {
    return arguments -> {
      for (String name : new String[] {"Sales", "Research", "Support"}) {
        Department department = new Department();
        department.name = name;
        department = departments.save(department);
        for (int number = 1; number <= 9; number++) {
          Employee employee = new Employee();
          employee.name = name + " employee " + number;
          employee.email = name.toLowerCase() + number + "@example.com";
          employee.salary = 1000 * number;
          employee.department = department;
          employees.save(employee);
        }
      }
    };
  }

  public static void main(String[] arguments) {
    SpringApplication.run(Employees.class, arguments);
  }
}
